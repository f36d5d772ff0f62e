"""The encodings in which the API server stores objects in etcd: decoders, encoders and their tables."""
