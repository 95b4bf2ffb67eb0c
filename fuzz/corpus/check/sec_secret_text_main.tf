resource "aws_instance" "gpu" {
  ami           = "ami-0123456789abcdef0"
  instance_type = "p5.48xlarge"
  user_data = <<-EOT
    #!/bin/bash
    export AWS_ACCESS_KEY_ID=AKIAQ3ZT7WJD5NXLK2VB
    python train.py
  EOT
}
