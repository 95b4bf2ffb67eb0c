resource "aws_security_group" "fsx" {
  ingress {
    from_port   = 2049
    to_port     = 2049
    protocol    = "tcp"
    cidr_blocks = ["10.0.0.0/16"]
  }
}
resource "aws_fsx_lustre_file_system" "data" {
  storage_capacity   = 4800
  security_group_ids = [aws_security_group.fsx.id]
}
