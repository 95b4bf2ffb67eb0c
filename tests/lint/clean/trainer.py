from sagemaker.modules.train import ModelTrainer

trainer = ModelTrainer(
    training_image=image(),
    role=get_execution_role(),
    source_code=SourceCode(source_dir="src", entry_script="train.py"),
    compute=Compute(instance_type=args.type, instance_count=args.nodes, enable_managed_spot_training=args.spot),
    distributed=Torchrun(),
    stopping_condition=StoppingCondition(max_runtime_in_seconds=args.run, max_wait_time_in_seconds=args.wait),
    checkpoint_config=CheckpointConfig(s3_uri=f"s3://{bucket}/checkpoints/"),
)
other = ModelTrainer(training_image=image(), role=role(), compute=compute(), stopping_condition=stop())
