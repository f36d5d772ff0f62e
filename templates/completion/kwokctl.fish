# Completes the words of kwokctl in fish: kwokctl completion fish | source

function __kwokctl_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (_KWOKCTL_COMPLETE=1 $words 2>/dev/null)
    set -l kind (string split ' ' -- $lines[1])
    set -l prefix (string match -r '^--[^=]*=' -- $words[-1])
    set -l begun (string replace -r '^--[^=]*=' '' -- $words[-1])
    switch "$kind[1]"
        case files
            # Behind "files" stand the endings of those that are wanted; folders lead on to them.
            set -l wanted '.'
            if set -q kind[2]
                set wanted '^[^\t]*(/|\.('(string join '|' -- $kind[2..])'))(\t|$)'
            end
            for file in (__fish_complete_path $begun | string match -e -r -- $wanted)
                string join "" -- $prefix $file
            end
            return
        case folders
            for folder in (__fish_complete_directories $begun)
                string join "" -- $prefix $folder
            end
            return
    end
    string join \n -- $lines[2..]
end

complete -c kwokctl -e
complete -c kwokctl -f -a '(__kwokctl_complete)'
