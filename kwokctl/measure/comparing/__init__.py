"""Compares the runs of one thing with the runs of another: is it better, worse, or can these runs not tell?"""
