provider "aws" {
  region = "eu-west-1"
}
provider "aws" {
  alias  = "logs"
  region = "us-east-1"
}
