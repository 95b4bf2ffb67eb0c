# As many nodes as the job has, always: a choice.
module "eks" {
  source             = "terraform-aws-modules/eks/aws"
  version            = "~> 21.0"
  enable_efa_support = true
  subnet_ids         = module.vpc.private_subnets
  eks_managed_node_groups = {
    gpu = {
      ami_type           = "AL2023_x86_64_NVIDIA"
      instance_types     = ["p5.48xlarge"]
      min_size           = 2
      max_size           = 2
      desired_size       = 2
      enable_efa_support = true
      taints = {
        gpu = { key = "nvidia.com/gpu", value = "true", effect = "NO_SCHEDULE" }
      }
    }
  }
}
