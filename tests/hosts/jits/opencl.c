/* SPDX-License-Identifier: MIT */
/* pocl: opencl SECONDS ROUNDS_FILE.  One kernel, by the platform that is there. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static const char *source =
	"__kernel void hot(__global float *a, int n) {\n"
	"  int i = get_global_id(0);\n"
	"  float x = a[i];\n"
	"  for (int k = 0; k < n; k++)\n"
	"    x = x * 0.999f + (float)k;\n"
	"  a[i] = x;\n"
	"}\n";

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	size_t items = 4096;
	cl_platform_id platform;
	cl_device_id device;
	cl_context c;
	cl_command_queue q;
	cl_program p;
	cl_kernel k;
	cl_mem m;
	cl_int error, n = 2000;
	long rounds = 0;
	double end;
	FILE *f;

	if (argc < 3 || clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
		return 1;
	c = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
	q = clCreateCommandQueue(c, device, 0, &error);
	p = clCreateProgramWithSource(c, 1, &source, NULL, &error);
	if (clBuildProgram(p, 1, &device, "", NULL, NULL))
		return 2;
	k = clCreateKernel(p, "hot", &error);
	m = clCreateBuffer(c, CL_MEM_READ_WRITE, items * sizeof(float), NULL, &error);
	clSetKernelArg(k, 0, sizeof(m), &m);
	clSetKernelArg(k, 1, sizeof(n), &n);
	end = now() + atof(argv[1]);
	while (now() < end) {
		if (clEnqueueNDRangeKernel(q, k, 1, NULL, &items, NULL, 0, NULL, NULL) || clFinish(q))
			return 3;
		rounds++;
	}
	printf("computed\n");
	f = fopen(argv[2], "w");
	fprintf(f, "%ld\n", rounds);
	return fclose(f);
}
