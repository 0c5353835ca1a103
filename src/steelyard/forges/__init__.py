"""The forges where code is reviewed: GitHub, GitLab."""
