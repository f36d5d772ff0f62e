# Completes the words of kwokctl in PowerShell: kwokctl completion powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName kwokctl -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if (-not $wordToComplete) { $words += '""' }
    $Env:_KWOKCTL_COMPLETE = '1'
    try { $lines = @(& kwokctl @words 2>$null) } finally { Remove-Item Env:_KWOKCTL_COMPLETE }
    if ($lines.Count -eq 0 -or $lines[0] -notlike 'words*') { return }
    $lines | Select-Object -Skip 1 | Where-Object { $_ } | ForEach-Object {
        $word, $text = $_ -split "`t", 2
        if (-not $text) { $text = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $text)
    }
}
