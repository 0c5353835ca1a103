"""Dead code: functions that nobody calls move a program's speed, until its layouts are averaged."""
