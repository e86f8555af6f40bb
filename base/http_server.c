#include "base/http_server.h"
