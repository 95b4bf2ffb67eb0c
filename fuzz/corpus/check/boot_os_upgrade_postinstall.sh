#!/bin/bash
# OnNodeConfigured
yum -y update
yum -y install htop
