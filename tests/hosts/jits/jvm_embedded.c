/* SPDX-License-Identifier: MIT */
/* A program with a Java machine in it: jvm_embedded FOLDER ARGUMENT... runs Fib, whose class is in FOLDER.  With LIBRARY, it loads
 * the machine from there by itself. */
#include <dlfcn.h>
#include <jni.h>
#include <stdio.h>

typedef jint (*create_function)(JavaVM **vm, void **env, void *arguments);

int main(int argc, char **argv)
{
	char path[4096];
	JavaVMOption option = { path, NULL };
	JavaVMInitArgs arguments = { JNI_VERSION_10, 1, &option, 0 };
	jobjectArray words;
	create_function create;
	jmethodID run;
	JavaVM *vm;
	JNIEnv *e;
	jclass k;

	if (argc < 2)
		return 2;
	snprintf(path, sizeof(path), "-Djava.class.path=%s", argv[1]);
#ifdef LIBRARY
	create = (create_function)dlsym(dlopen(LIBRARY, RTLD_NOW), "JNI_CreateJavaVM");
#else
	create = JNI_CreateJavaVM;
#endif
	if (!create || create(&vm, (void **)&e, &arguments) || !(k = (*e)->FindClass(e, "Fib")))
		return 1;
	run = (*e)->GetStaticMethodID(e, k, "main", "([Ljava/lang/String;)V");
	words = (*e)->NewObjectArray(e, argc - 2, (*e)->FindClass(e, "java/lang/String"), NULL);
	for (int i = 2; i < argc; i++)
		(*e)->SetObjectArrayElement(e, words, i - 2, (*e)->NewStringUTF(e, argv[i]));
	(*e)->CallStaticVoidMethod(e, k, run, words);
	return (*vm)->DestroyJavaVM(vm);
}
