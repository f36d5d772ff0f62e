module kwokctl.dev/tests/greeter

go 1.24
