resource "aws_security_group" "efa" {
  ingress {
    from_port = 0
    to_port   = 0
    protocol  = "-1"
    self      = true
  }
  egress {
    from_port   = 0
    to_port     = 0
    protocol    = "-1"
    cidr_blocks = ["0.0.0.0/0"]
  }
}
resource "aws_launch_template" "gpu" {
  instance_type = "p4d.24xlarge"
  network_interfaces {
    interface_type  = "efa"
    security_groups = [aws_security_group.efa.id]
  }
}
