resource "aws_s3_bucket" "checkpoints" {
  bucket = "llm-checkpoints"
}
