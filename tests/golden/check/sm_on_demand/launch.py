from sagemaker.pytorch import PyTorch

job = PyTorch(
    entry_point="train.py",
    instance_type="ml.p4d.24xlarge",
    instance_count=4,
    hyperparameters={"epochs": 3, "batch_size": 64},
    distribution={"torch_distributed": {"enabled": True}},
    debugger_hook_config=False,
)

job.fit({"training": "s3://my-bucket/tokens"})
