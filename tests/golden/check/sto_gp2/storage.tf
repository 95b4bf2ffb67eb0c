resource "aws_ebs_volume" "data" {
  type = "gp2"
  size = 8000
}
resource "aws_launch_template" "gpu" {
  instance_type = "g5.48xlarge"
  block_device_mappings {
    device_name = "/dev/xvda"
    ebs {
      volume_size = 500
      volume_type = "gp2"
    }
  }
}
