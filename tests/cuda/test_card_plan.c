#include "backend/cuda/card_plan.h"
#include <stdio.h>
int main(void){return 0;}
