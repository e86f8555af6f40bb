#include "capture/picture.h"
