#define STEELYARD_IMPLEMENTATION
#include "steelyard.hpp"
