module "eks" {
  source = "terraform-aws-modules/eks/aws"
  eks_managed_node_groups = {
    gpu = {
      instance_types     = ["p4d.24xlarge"]
      enable_efa_support = true
      subnet_ids         = ["subnet-0a1", "subnet-0b1"]
    }
  }
}
