"""What all commands share: context, options, output, errors."""
