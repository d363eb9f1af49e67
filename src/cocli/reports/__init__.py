"""What a campaign has and lacks, in figures."""
