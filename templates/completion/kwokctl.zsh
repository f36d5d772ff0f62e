#compdef kwokctl
# Completes the words of kwokctl in zsh: source <(kwokctl completion zsh)

_kwokctl() {
    local -a lines entries
    local line word
    lines=("${(@f)$(_KWOKCTL_COMPLETE=1 "${(Q)words[1]}" "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ $lines[1] == files ]]; then
        compset -P '*='
        _files
        return
    fi
    for line in "${(@)lines[2,-1]}"; do
        word=${line%%$'\t'*}
        [[ -z $word || $word == :* ]] && continue
        if [[ $line == *$'\t'* ]]; then
            entries+=("${word//:/\\:}:${line#*$'\t'}")
        else
            entries+=("${word//:/\\:}")
        fi
    done
    _describe -V kwokctl entries
}

compdef _kwokctl kwokctl
