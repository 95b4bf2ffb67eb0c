resource "aws_nat_gateway" "n" {
  subnet_id = aws_subnet.public.id
}
resource "aws_instance" "gpu" {
  instance_type = "p5.48xlarge"
}
