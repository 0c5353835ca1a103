"""Dead code: functions that nobody calls change a program's speed, unless its layouts are averaged."""
