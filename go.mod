module example.com/emailplatform

go 1.25.0
