module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    gpu = {
      ami_type       = "AL2023_x86_64_STANDARD"
      instance_types = ["trn1.32xlarge"]
    }
  }
}
