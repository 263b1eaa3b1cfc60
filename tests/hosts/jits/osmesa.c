/* SPDX-License-Identifier: MIT */
/* Mesa's llvmpipe: osmesa SECONDS ROUNDS_FILE.  Draws blended, lit triangles into memory. */
#include <GL/gl.h>
#include <GL/osmesa.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SIDE 512

int main(int argc, char **argv)
{
	OSMesaContext c = OSMesaCreateContextExt(OSMESA_RGBA, 24, 0, 0, NULL);
	void *image = malloc(SIDE * SIDE * 4);
	long rounds = 0;
	time_t end;
	FILE *f;

	if (argc < 3 || !c || !OSMesaMakeCurrent(c, image, GL_UNSIGNED_BYTE, SIDE, SIDE))
		return 1;
	glEnable(GL_BLEND);
	glBlendFunc(GL_SRC_ALPHA, GL_ONE_MINUS_SRC_ALPHA);
	glEnable(GL_LIGHTING);
	glEnable(GL_LIGHT0);
	glEnable(GL_COLOR_MATERIAL);
	end = time(NULL) + atoi(argv[1]) + 1;
	while (time(NULL) < end) {
		for (int i = 0; i < 50; i++) {
			glBegin(GL_TRIANGLES);
			glColor4f(1, 0, 0, 0.5f);
			glVertex3f(-1, -1, 0);
			glColor4f(0, 1, 0, 0.5f);
			glVertex3f(1, -1, 0.01f * (float)i);
			glColor4f(0, 0, 1, 0.5f);
			glVertex3f(0, 1, 0);
			glEnd();
		}
		glFinish();
		rounds++;
	}
	printf("drawn\n");
	f = fopen(argv[2], "w");
	fprintf(f, "%ld\n", rounds);
	return fclose(f);
}
