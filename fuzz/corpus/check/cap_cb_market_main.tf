resource "aws_instance" "gpu" {
  instance_type = "p5.48xlarge"
  capacity_reservation_specification {
    capacity_reservation_target {
      capacity_reservation_id = aws_ec2_capacity_block_reservation.week.id
    }
  }
}
