module contained

go 1.22
