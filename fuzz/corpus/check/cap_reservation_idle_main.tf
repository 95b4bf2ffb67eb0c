resource "aws_ec2_capacity_reservation" "r" {
  instance_type           = "p5.48xlarge"
  instance_count          = 4
  instance_match_criteria = "targeted"
}
resource "aws_instance" "gpu" {
  instance_type = "p5.48xlarge"
}
