# Completion for fish; without an answer it offers files.
complete --command steelyard --arguments "(env _STEELYARD_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=get-args _TYPER_COMPLETE_ARGS=(commandline -cp) steelyard)"
