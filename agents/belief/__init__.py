"""What a player may think the hidden state is: one sampler a file."""
