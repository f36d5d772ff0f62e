# Completes the words of kwokctl in bash: source <(kwokctl completion bash)

_kwokctl() {
    local begun="" line kind="" word words=() glued=""
    COMPREPLY=()
    # bash ends a word at "=" and ":"; here "--name=x" is one word.
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ ${#words[@]} -gt 0 && ( -n $glued || $word == [=:] ) ]]; then
            words[${#words[@]}-1]+=$word
        else
            words+=("$word")
        fi
        glued=""
        [[ $word == [=:] ]] && glued=1
    done
    begun=${words[${#words[@]}-1]}
    # What stands before the last "=" or ":" is not part of what bash replaces.
    local before=${begun%"${begun##*[=:]}"}
    while IFS= read -r line; do
        if [[ -z $kind ]]; then
            kind=$line
            continue
        fi
        word=${line%%$'\t'*}
        [[ $word == :* ]] || COMPREPLY+=("${word#"$before"}")
    done < <(_KWOKCTL_COMPLETE=1 "${COMP_WORDS[0]}" "${words[@]}" 2>/dev/null)
    case $kind in
    "words nospace")
        compopt -o nospace
        ;;
    files*)
        compopt -o filenames
        # Behind "files" stand the endings of those that are wanted; folders lead on to them.
        local endings=" ${kind#files} "
        while IFS= read -r line; do
            [[ $endings != *[^\ ]* || -d ${line/#\~/$HOME} || $endings == *" ${line##*.} "* ]] &&
                COMPREPLY+=("$line")
        done < <(compgen -f -- "${begun#"$before"}")
        ;;
    folders)
        compopt -o filenames
        while IFS= read -r line; do
            COMPREPLY+=("$line")
        done < <(compgen -d -- "${begun#"$before"}")
        ;;
    esac
}

complete -F _kwokctl kwokctl
