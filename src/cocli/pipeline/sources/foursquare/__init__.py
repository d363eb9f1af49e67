"""Foursquare OS Places."""
