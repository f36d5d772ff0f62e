"""Code that is written once for all objects that are alike: their JSON differs in a few texts only.

It is computed from one of them, and then fills those texts in for each. It knows neither Stages nor the
lives of pods: the change of an object is an argument, as a function of its value or as a patch.
"""
