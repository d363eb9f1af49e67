"""The dashboard in a bucket or a folder: the files of `cocli web`, written so that no page ever finds half of them."""
