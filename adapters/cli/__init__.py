"""The commands of `promptcorner`, one module each.

For other rooms:
    main           finds the command, runs it and makes its exit code
    completion.candidates  finds the words that a shell offers

Inside:
    command_line   shares help, flags of settings, tables and JSON among the commands
    harmless       takes out of texts what would do something to a terminal         (pure)
    daemon_place   says where the daemon of a command is, and makes clients that ask it
    suggestions    names the command or flag that was perhaps meant
    serve          runs `promptcorner serve`
    migrate        runs `promptcorner migrate`
    config_show    runs `promptcorner config show`
    backup         runs `promptcorner backup` and `promptcorner restore`
    archive        writes and reads the file of a backup
    fake_provider  runs `promptcorner fake-provider`
    bench/         runs `promptcorner bench`
    admin/         runs `promptcorner users`, `tokens`, `approvals` and their like
    completion/    runs `promptcorner completion`, and what shells ask
    board/         runs `promptcorner chats`, all chats on one screen
    pipes/         runs `promptcorner chat -m` and `promptcorner watch`, for scripts
    chat/          runs `promptcorner chat`
    doctor/        runs `promptcorner doctor`
"""
