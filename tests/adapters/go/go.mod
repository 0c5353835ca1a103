module steelyard.test/awkward

go 1.24
