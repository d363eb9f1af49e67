"""A bucket in virtual time: S3's published rates and usual latencies, asked by the real code of thousands of workers.

`world` is the time, `rates` the limits, `bucket` the objects and the count of requests, `client` what one process sees
of it, with the patience that the store on S3 has. `queue_run` and `index_run` let the product's code work on it.
"""
