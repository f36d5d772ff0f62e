"""Marks and rewinds for programs in any language: JSON over HTTP on a unix socket."""
