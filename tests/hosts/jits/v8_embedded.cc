// SPDX-License-Identifier: MIT
// An embedder of V8: a thread of its own with three isolates of its own, one after another, in which no file is opened.  The third has the
// memory of the second.  (An addon of Node, which exports V8.)
#include <node.h>
#include <uv.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

#define ISOLATES 3

using namespace v8;

static void print(const FunctionCallbackInfo<Value> &a)
{
	printf("%s\n", *String::Utf8Value(a.GetIsolate(), a[0]));
	fflush(stdout);
}

static Local<String> text(Isolate *i, const std::string &s)
{
	return String::NewFromUtf8(i, s.c_str()).ToLocalChecked();
}

static void embed(node::MultiIsolatePlatform *platform, std::string source, std::string seconds)
{
	std::shared_ptr<node::ArrayBufferAllocator> memory = node::ArrayBufferAllocator::Create();
	uv_loop_t loop;
	uv_loop_init(&loop);
	Isolate *i = node::NewIsolate(memory, &loop, platform);
	{
		Locker locker(i);
		Isolate::Scope entered(i);
		HandleScope handles(i);
		Local<Context> context = Context::New(i);
		Context::Scope in(context);
		Local<Value> args[] = { text(i, seconds) };
		context->Global()->Set(context, text(i, "print"), Function::New(context, print).ToLocalChecked()).Check();
		context->Global()->Set(context, text(i, "scriptArgs"), Array::New(i, args, 1)).Check();
		Script::Compile(context, text(i, source)).ToLocalChecked()->Run(context).ToLocalChecked();
	}
	platform->UnregisterIsolate(i);
	i->Dispose();
	uv_loop_close(&loop);
}

// run(FILE, SECONDS): fib.js
static void run(const FunctionCallbackInfo<Value> &a)
{
	Isolate *i = a.GetIsolate();
	std::ifstream file(*String::Utf8Value(i, a[0]));
	std::stringstream source;
	source << file.rdbuf();
	node::MultiIsolatePlatform *platform = node::GetMultiIsolatePlatform(node::GetCurrentEnvironment(i->GetCurrentContext()));
	std::string text = source.str(), seconds = std::to_string(a[1].As<Number>()->Value() / ISOLATES);
	std::thread([=] {
		for (int nr = 0; nr < ISOLATES; nr++)
			embed(platform, text, seconds);
	}).join();
}

NODE_MODULE_INIT()
{
	NODE_SET_METHOD(exports, "run", run);
}
