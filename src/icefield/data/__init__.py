"""Data in any form, read into one: the only room in which frames are touched."""
