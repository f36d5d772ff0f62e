# Completes the words of kwokctl in fish: kwokctl completion fish | source

function __kwokctl_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l lines (_KWOKCTL_COMPLETE=1 $words 2>/dev/null)
    if test "$lines[1]" = files
        set -l prefix (string match -r '^--[^=]*=' -- $words[-1])
        for file in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- $words[-1]))
            string join "" -- $prefix $file
        end
        return
    end
    string match -v -r '^:' -- $lines[2..]
end

complete -c kwokctl -e
complete -c kwokctl -f -a '(__kwokctl_complete)'
