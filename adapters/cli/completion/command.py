"""`promptcorner completion`: the script by which a shell completes our commands."""

import argparse
import sys

from adapters.cli.command_line import describe

DESCRIPTION = """\
Print a script by which a shell completes commands, flags, ids of chats (with their titles) and
models. The daemon is asked for those, for a moment; without one they are left out.

  promptcorner completion bash        to be appended to ~/.bashrc
  promptcorner completion zsh         as the file _promptcorner in a directory of $fpath
  promptcorner completion fish        as ~/.config/fish/completions/promptcorner.fish
"""

BASH = """\
# promptcorner in bash
_promptcorner() {
    local words value text
    read -ra words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ "${COMP_LINE:0:COMP_POINT}" == *[[:space:]] ]] && words+=("")
    COMPREPLY=()
    local -a values=() shown=()
    while IFS=$'\\t' read -r value text; do
        case "$value" in
            :file | :dir)
                compopt -o filenames
                mapfile -t COMPREPLY < <(compgen "-${value:1:1}" -- "${COMP_WORDS[COMP_CWORD]}")
                return
                ;;
        esac
        values+=("$value")
        shown+=("$value${text:+  ($text)}")
    done < <(promptcorner completion words bash -- "${words[@]:1}" 2>/dev/null)
    if ((${#values[@]} == 1)); then
        COMPREPLY=("${values[0]}")
    elif ((${#values[@]} > 1)); then
        # With their texts only where the list is shown, and not where a part of it is typed.
        if ((COMP_TYPE == 63 || COMP_TYPE == 33 || COMP_TYPE == 64)); then
            COMPREPLY=("${shown[@]}")
        else
            COMPREPLY=("${values[@]}")
        fi
    fi
}
complete -o nosort -F _promptcorner promptcorner
"""

ZSH = """\
#compdef promptcorner
_promptcorner() {
    local value text
    local -a values shown
    while IFS=$'\\t' read -r value text; do
        case "$value" in
            :file) _files; return ;;
            :dir) _files -/; return ;;
        esac
        values+=("$value")
        shown+=("$value${text:+  -- $text}")
    done < <(promptcorner completion words zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    (( ${#values} )) && compadd -l -d shown -a values
}
if [[ "${funcstack[1]}" == _promptcorner ]]; then
    _promptcorner
else
    compdef _promptcorner promptcorner
fi
"""

FISH = """\
# promptcorner in fish
function __promptcorner_words
    set -l words (commandline -opc)[2..] (commandline -ct)
    set -l found (promptcorner completion words fish -- $words 2>/dev/null)
    switch "$found[1]"
        case ':file'
            __fish_complete_path (commandline -ct)
        case ':dir'
            __fish_complete_directories (commandline -ct)
        case '*'
            printf '%s\\n' $found
    end
end
complete -c promptcorner -f -a '(__promptcorner_words)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the shell."""
    describe(parser, DESCRIPTION, run=run)
    parser.add_argument("shell", choices=SCRIPTS, metavar="SHELL", help="bash, zsh or fish")


def run(options: argparse.Namespace) -> int:
    """Print the script."""
    sys.stdout.write(SCRIPTS[options.shell])
    return 0
