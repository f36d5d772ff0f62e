#compdef kwokctl
# Completes the words of kwokctl in zsh: source <(kwokctl completion zsh)

_kwokctl() {
    local -a lines entries
    local line word
    lines=("${(@f)$(_KWOKCTL_COMPLETE=1 "${(Q)words[1]}" "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    local -a kind=(${=lines[1]}) more
    case $kind[1] in
    files)
        compset -P '*='
        if (( $#kind > 1 )); then
            _files -g "*.(${(j:|:)kind[2,-1]})"
        else
            _files
        fi
        return
        ;;
    folders)
        compset -P '*='
        _files -/
        return
        ;;
    esac
    [[ $kind[2] == nospace ]] && more=(-S '')
    for line in "${(@)lines[2,-1]}"; do
        word=${line%%$'\t'*}
        [[ -z $word || $word == :* ]] && continue
        if [[ $line == *$'\t'* ]]; then
            entries+=("${word//:/\\:}:${line#*$'\t'}")
        else
            entries+=("${word//:/\\:}")
        fi
    done
    _describe -V kwokctl entries "${(@)more}"
}

compdef _kwokctl kwokctl
