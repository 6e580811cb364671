// A host of wgmax in C: plans from the C library, executed with any webgpu.h.
//
//     cargo build --release -p wgmax-capi
//     cc -I capi/include -I WEBGPU capi/examples/host.c target/release/libwgmax_capi.a WEBGPU/LIBRARY
//         -lcjson -lpthread -ldl -lm -o host
//     ./host [OPERATION.json INPUT...]
//
// WEBGPU is a folder with webgpu.h and its library; an input is a file with the bytes of a tensor. Whatever goes wrong ends
// the program. It waits by asking for events again and again: wgpu-native has no other way that is in webgpu.h.

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <webgpu.h>
#include <wgmax.h>

typedef struct {
    void *data;
    size_t size;
} Bytes;

// What is kept for each shader key.
typedef struct Pipeline {
    char *key;
    WGPUBindGroupLayout layout;
    WGPUComputePipeline pipeline;
    struct Pipeline *next;
} Pipeline;

typedef struct {
    WGPUInstance instance;
    WGPUAdapter adapter;
    WGPUDevice device;
    WGPUQueue queue;
    Pipeline *pipelines;
} Host;

// The buffers that bindings name: for each kind of slot as many as the plan says.
typedef struct {
    WGPUBuffer *input, *output, *scratch, *embedded;
} Slots;

static WGPUStringView view(const char *text) { return (WGPUStringView){text, WGPU_STRLEN}; }

static void fail(const char *what, WGPUStringView why) {
    size_t length = why.length == WGPU_STRLEN ? strlen(why.data) : why.length;
    fprintf(stderr, "%s: %.*s\n", what, (int)length, why.data);
    exit(1);
}

static void *room(size_t size) {
    void *room = calloc(1, size ? size : 1);
    if (!room) fail("host", view("out of memory"));
    return room;
}

// JSON.

static const cJSON *at(const cJSON *object, const char *name) { return cJSON_GetObjectItemCaseSensitive(object, name); }
static const char *text(const cJSON *object, const char *name) { return cJSON_GetStringValue(at(object, name)); }
static uint64_t value(const cJSON *number) { return (uint64_t)cJSON_GetNumberValue(number); }
static uint64_t number(const cJSON *object, const char *name) { return value(at(object, name)); }
static uint64_t nth(const cJSON *list, int n) { return value(cJSON_GetArrayItem(list, n)); }

// What the planner gave, read.
static cJSON *answer(char *json, const char *error) {
    if (!json) fail("wgmax", view(error));
    cJSON *read = cJSON_Parse(json);
    wgmax_free(json);
    return read;
}

static cJSON *signature_of(const char *operation) {
    char *error, *json = wgmax_signature(operation, &error);
    return answer(json, error);
}

static cJSON *plan_of(const char *operation, const char *limits) {
    char *error, *json = wgmax_plan(operation, limits, &error);
    cJSON *plan = answer(json, error);
    if (number(plan, "version") != 1) fail("plan", view("another version than 1"));
    return plan;
}

// The words of a list of numbers, for a little-endian machine.
static Bytes words(const cJSON *list) {
    Bytes words = {room(4 * (size_t)cJSON_GetArraySize(list)), 0};
    const cJSON *word;
    cJSON_ArrayForEach(word, list) {
        uint32_t own = (uint32_t)value(word);
        memcpy((char *)words.data + words.size, &own, 4);
        words.size += 4;
    }
    return words;
}

// The device.

static void on_error(WGPUDevice const *device, WGPUErrorType type, WGPUStringView why, void *a, void *b) {
    (void)device, (void)type, (void)a, (void)b;
    fail("WebGPU", why);
}

static void on_adapter(WGPURequestAdapterStatus status, WGPUAdapter adapter, WGPUStringView why, void *to, void *b) {
    (void)b;
    if (status != WGPURequestAdapterStatus_Success) fail("adapter", why);
    *(WGPUAdapter *)to = adapter;
}

static void on_device(WGPURequestDeviceStatus status, WGPUDevice device, WGPUStringView why, void *to, void *b) {
    (void)b;
    if (status != WGPURequestDeviceStatus_Success) fail("device", why);
    *(WGPUDevice *)to = device;
}

static void on_mapped(WGPUMapAsyncStatus status, WGPUStringView why, void *mapped, void *b) {
    (void)b;
    if (status != WGPUMapAsyncStatus_Success) fail("reading back", why);
    *(int *)mapped = 1;
}

Host *host_open(void) {
    Host *host = room(sizeof *host);
    const WGPUCallbackMode mode = WGPUCallbackMode_AllowProcessEvents;
    host->instance = wgpuCreateInstance(NULL);
    wgpuInstanceRequestAdapter(host->instance, NULL,
        (WGPURequestAdapterCallbackInfo){.mode = mode, .callback = on_adapter, .userdata1 = &host->adapter});
    while (!host->adapter) wgpuInstanceProcessEvents(host->instance);
    WGPUDeviceDescriptor descriptor = {.uncapturedErrorCallbackInfo.callback = on_error};
    wgpuAdapterRequestDevice(host->adapter, &descriptor,
        (WGPURequestDeviceCallbackInfo){.mode = mode, .callback = on_device, .userdata1 = &host->device});
    while (!host->device) wgpuInstanceProcessEvents(host->instance);
    host->queue = wgpuDeviceGetQueue(host->device);
    return host;
}

// The device's limits as the planner takes them. The caller frees the text.
char *host_limits(Host *host) {
    WGPULimits limits = {0};
    WGPUAdapterInfo info = {0};
    wgpuDeviceGetLimits(host->device, &limits);
    wgpuAdapterGetInfo(host->adapter, &info);
    char device[8] = ""; // the beginning is enough
    memcpy(device, info.device.data, info.device.length < 8 ? info.device.length : 8);
    const char *on_cpu = memcmp(device, "llvmpipe", 8) ? "swiftshader" : "lavapipe";
    uint32_t group = limits.maxComputeInvocationsPerWorkgroup;
    if (group > limits.maxComputeWorkgroupSizeX) group = limits.maxComputeWorkgroupSizeX;

    cJSON *json = cJSON_CreateObject();
    cJSON_AddStringToObject(json, "adapter", info.adapterType == WGPUAdapterType_CPU ? on_cpu : "hardware");
    cJSON_AddNumberToObject(json, "max_binding_bytes", (double)limits.maxStorageBufferBindingSize);
    cJSON_AddNumberToObject(json, "binding_alignment_bytes", limits.minStorageBufferOffsetAlignment);
    cJSON_AddNumberToObject(json, "max_storage_bindings", limits.maxStorageBuffersPerShaderStage);
    cJSON_AddNumberToObject(json, "max_group_invocations", group);
    cJSON_AddNumberToObject(json, "max_group_memory_bytes", limits.maxComputeWorkgroupStorageSize);
    cJSON_AddNumberToObject(json, "max_groups", limits.maxComputeWorkgroupsPerDimension);
    char *text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    wgpuAdapterInfoFreeMembers(info);
    return text;
}

// Buffers.

// A buffer of so many bytes or of these, whichever are more; NULL where there is nothing to bind.
static WGPUBuffer buffer(Host *host, WGPUBufferUsage usage, uint64_t size, Bytes bytes) {
    uint64_t whole = (bytes.size + 3) / 4 * 4;
    if (size < whole) size = whole;
    if (size == 0) return NULL;
    WGPUBufferDescriptor descriptor = {.usage = usage, .size = size, .mappedAtCreation = 1};
    WGPUBuffer buffer = wgpuDeviceCreateBuffer(host->device, &descriptor);
    if (bytes.size) memcpy(wgpuBufferGetMappedRange(buffer, 0, size), bytes.data, bytes.size);
    wgpuBufferUnmap(buffer);
    return buffer;
}

// Storage buffers of these sizes, with what they begin with, if that is given.
static WGPUBuffer *storage(Host *host, const cJSON *sizes, const Bytes *bytes) {
    int count = cJSON_GetArraySize(sizes);
    WGPUBuffer *all = room((size_t)count * sizeof *all);
    for (int n = 0; n < count; n++) {
        WGPUBufferUsage usage = WGPUBufferUsage_Storage | WGPUBufferUsage_CopySrc;
        all[n] = buffer(host, usage, nth(sizes, n), bytes ? bytes[n] : (Bytes){0});
    }
    return all;
}

// So many bytes at most.
static Bytes first(Bytes bytes, uint64_t size) {
    if (bytes.size > size) bytes.size = size;
    return bytes;
}

static WGPUBuffer *written(Host *host, const cJSON *plan, const Bytes *inputs) {
    const cJSON *sizes = at(plan, "output_bytes"), *in_place = at(plan, "in_place");
    Bytes *bytes = room((size_t)cJSON_GetArraySize(sizes) * sizeof *bytes);
    if (cJSON_IsNumber(in_place)) bytes[0] = first(inputs[value(in_place)], nth(sizes, 0));
    WGPUBuffer *outputs = storage(host, sizes, bytes);
    free(bytes);
    return outputs;
}

static WGPUBuffer *embedded(Host *host, const cJSON *lists) {
    int count = cJSON_GetArraySize(lists);
    WGPUBuffer *all = room((size_t)count * sizeof *all);
    for (int n = 0; n < count; n++) {
        Bytes own = words(cJSON_GetArrayItem(lists, n));
        all[n] = buffer(host, WGPUBufferUsage_Storage, 0, own);
        free(own.data);
    }
    return all;
}

static void release(WGPUBuffer *all, const cJSON *each) {
    for (int n = 0; n < cJSON_GetArraySize(each); n++) {
        if (all[n]) wgpuBufferRelease(all[n]);
    }
    free(all);
}

// What a binding names.
static WGPUBuffer slot(const Slots *slots, const cJSON *binding) {
    const char *slot = text(binding, "slot");
    uint64_t index = number(binding, "index");
    if (!strcmp(slot, "input")) return slots->input[index];
    if (!strcmp(slot, "output")) return slots->output[index];
    return !strcmp(slot, "scratch") ? slots->scratch[index] : slots->embedded[index];
}

// Dispatches.

static WGPUBindGroupLayout layout_of(Host *host, const cJSON *bindings) {
    size_t count = 1;
    WGPUBindGroupLayoutEntry *entries = room((1 + (size_t)cJSON_GetArraySize(bindings)) * sizeof *entries);
    entries[0].visibility = WGPUShaderStage_Compute;
    entries[0].buffer.type = WGPUBufferBindingType_Uniform;
    const cJSON *own;
    cJSON_ArrayForEach(own, bindings) {
        int reads = !strcmp(text(own, "access"), "read");
        entries[count].binding = (uint32_t)number(own, "binding");
        entries[count].visibility = WGPUShaderStage_Compute;
        entries[count++].buffer.type = reads ? WGPUBufferBindingType_ReadOnlyStorage : WGPUBufferBindingType_Storage;
    }
    WGPUBindGroupLayoutDescriptor descriptor = {.entryCount = count, .entries = entries};
    WGPUBindGroupLayout layout = wgpuDeviceCreateBindGroupLayout(host->device, &descriptor);
    free(entries);
    return layout;
}

static WGPUComputePipeline compiled(Host *host, const cJSON *shader, WGPUBindGroupLayout layout) {
    size_t count = 0;
    const cJSON *overrides = at(shader, "overrides"), *own;
    WGPUConstantEntry *constants = room((size_t)cJSON_GetArraySize(overrides) * sizeof *constants);
    cJSON_ArrayForEach(own, overrides) {
        constants[count++] = (WGPUConstantEntry){.key = view(own->string), .value = own->valuedouble};
    }
    WGPUShaderSourceWGSL source = {.chain.sType = WGPUSType_ShaderSourceWGSL, .code = view(text(shader, "wgsl"))};
    WGPUShaderModuleDescriptor wgsl = {.nextInChain = &source.chain, .label = view(text(shader, "label"))};
    WGPUPipelineLayoutDescriptor layouts = {.bindGroupLayoutCount = 1, .bindGroupLayouts = &layout};
    WGPUComputePipelineDescriptor descriptor = {
        .label = wgsl.label,
        .layout = wgpuDeviceCreatePipelineLayout(host->device, &layouts),
        .compute = {.module = wgpuDeviceCreateShaderModule(host->device, &wgsl),
                    .entryPoint = view(text(shader, "entry_point")),
                    .constantCount = count,
                    .constants = constants},
    };
    WGPUComputePipeline pipeline = wgpuDeviceCreateComputePipeline(host->device, &descriptor);
    wgpuPipelineLayoutRelease(descriptor.layout);
    wgpuShaderModuleRelease(descriptor.compute.module);
    free(constants);
    return pipeline;
}

// The pipeline of a shader: dispatches with one key have one layout.
static const Pipeline *pipeline_of(Host *host, const cJSON *shader, const cJSON *bindings) {
    const char *key = text(shader, "key");
    for (Pipeline *own = host->pipelines; own; own = own->next) {
        if (!strcmp(own->key, key)) return own;
    }
    Pipeline *made = room(sizeof *made);
    made->key = strcpy(room(strlen(key) + 1), key);
    made->layout = layout_of(host, bindings);
    made->pipeline = compiled(host, shader, made->layout);
    made->next = host->pipelines;
    return host->pipelines = made;
}

static WGPUBindGroup bind(Host *host, const cJSON *dispatch, WGPUBindGroupLayout layout, const Slots *slots) {
    size_t count = 1;
    const cJSON *bindings = at(dispatch, "bindings"), *own;
    WGPUBindGroupEntry *entries = room((1 + (size_t)cJSON_GetArraySize(bindings)) * sizeof *entries);
    Bytes params = words(at(dispatch, "params"));
    entries[0].buffer = buffer(host, WGPUBufferUsage_Uniform, 0, params);
    entries[0].size = params.size;
    cJSON_ArrayForEach(own, bindings) {
        entries[count].binding = (uint32_t)number(own, "binding");
        entries[count].buffer = slot(slots, own);
        entries[count].offset = number(own, "offset_bytes");
        entries[count++].size = number(own, "bytes");
    }
    WGPUBindGroupDescriptor descriptor = {.layout = layout, .entryCount = count, .entries = entries};
    WGPUBindGroup group = wgpuDeviceCreateBindGroup(host->device, &descriptor);
    wgpuBufferRelease(entries[0].buffer); // the group keeps it
    free(params.data);
    free(entries);
    return group;
}

static void record(Host *host, const cJSON *plan, const Slots *slots, WGPUCommandEncoder encoder) {
    WGPUComputePassEncoder pass = wgpuCommandEncoderBeginComputePass(encoder, NULL);
    const cJSON *dispatch;
    cJSON_ArrayForEach(dispatch, at(plan, "dispatches")) {
        const cJSON *grid = at(dispatch, "grid");
        const cJSON *shader = cJSON_GetArrayItem(at(plan, "shaders"), (int)number(dispatch, "shader"));
        const Pipeline *pipeline = pipeline_of(host, shader, at(dispatch, "bindings"));
        WGPUBindGroup group = bind(host, dispatch, pipeline->layout, slots);
        wgpuComputePassEncoderSetPipeline(pass, pipeline->pipeline);
        wgpuComputePassEncoderSetBindGroup(pass, 0, group, 0, NULL);
        wgpuComputePassEncoderDispatchWorkgroups(
            pass, (uint32_t)nth(grid, 0), (uint32_t)nth(grid, 1), (uint32_t)nth(grid, 2));
        wgpuBindGroupRelease(group);
    }
    wgpuComputePassEncoderEnd(pass);
    wgpuComputePassEncoderRelease(pass);
}

static void submit(Host *host, WGPUCommandEncoder encoder) {
    WGPUCommandBuffer commands = wgpuCommandEncoderFinish(encoder, NULL);
    wgpuQueueSubmit(host->queue, 1, &commands);
    wgpuCommandBufferRelease(commands);
    wgpuCommandEncoderRelease(encoder);
}

// The bytes of a buffer, once what was submitted is done.
static Bytes read_back(Host *host, WGPUBuffer from) {
    Bytes bytes = {NULL, from ? wgpuBufferGetSize(from) : 0};
    bytes.data = room(bytes.size);
    if (!from) return bytes;
    WGPUBufferDescriptor descriptor = {.usage = WGPUBufferUsage_MapRead | WGPUBufferUsage_CopyDst, .size = bytes.size};
    WGPUBuffer staging = wgpuDeviceCreateBuffer(host->device, &descriptor);
    WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(host->device, NULL);
    wgpuCommandEncoderCopyBufferToBuffer(encoder, from, 0, staging, 0, bytes.size);
    submit(host, encoder);
    int mapped = 0;
    wgpuBufferMapAsync(staging, WGPUMapMode_Read, 0, bytes.size, (WGPUBufferMapCallbackInfo){
        .mode = WGPUCallbackMode_AllowProcessEvents, .callback = on_mapped, .userdata1 = &mapped});
    while (!mapped) wgpuInstanceProcessEvents(host->instance);
    memcpy(bytes.data, wgpuBufferGetConstMappedRange(staging, 0, bytes.size), bytes.size);
    wgpuBufferRelease(staging);
    return bytes;
}

// The bytes that an input must have. That of output 0, in place, is not bound, so the plan asks for none of its bytes: but it
// is all that the output holds to begin with.
static uint64_t needed(const cJSON *plan, size_t input) {
    const cJSON *in_place = at(plan, "in_place");
    if (cJSON_IsNumber(in_place) && value(in_place) == input) return nth(at(plan, "output_bytes"), 0);
    return nth(at(plan, "input_bytes"), (int)input);
}

static void check_inputs(const cJSON *plan, const Bytes *inputs, size_t count) {
    size_t expected = (size_t)cJSON_GetArraySize(at(plan, "input_bytes"));
    if (expected != count) fail("inputs", view("not as many as the operation has"));
    for (size_t n = 0; n < count; n++) {
        if ((inputs[n].size + 3) / 4 * 4 < needed(plan, n)) fail("inputs", view("one has too few bytes"));
    }
}

// Runs an operation. Each output gets its bytes, up to a whole number of words; the caller frees them. Pipelines are kept;
// an engine would keep more: the plan, its parameters and embedded words, and a bind group for each set of buffers.
void host_run(Host *host, const char *operation, const char *limits, const Bytes *inputs, size_t count,
              Bytes *outputs) {
    cJSON *plan = plan_of(operation, limits);
    check_inputs(plan, inputs, count);
    Slots slots = {
        .input = storage(host, at(plan, "input_bytes"), inputs),
        .output = written(host, plan, inputs),
        .scratch = storage(host, at(plan, "scratch_bytes"), NULL),
        .embedded = embedded(host, at(plan, "embedded")),
    };
    WGPUCommandEncoder encoder = wgpuDeviceCreateCommandEncoder(host->device, NULL);
    record(host, plan, &slots, encoder);
    submit(host, encoder);
    for (int n = 0; n < cJSON_GetArraySize(at(plan, "output_bytes")); n++) {
        outputs[n] = read_back(host, slots.output[n]);
    }
    release(slots.input, at(plan, "input_bytes"));
    release(slots.output, at(plan, "output_bytes"));
    release(slots.scratch, at(plan, "scratch_bytes"));
    release(slots.embedded, at(plan, "embedded"));
    cJSON_Delete(plan);
}

void host_close(Host *host) {
    for (Pipeline *own = host->pipelines, *next; own; own = next) {
        next = own->next;
        wgpuComputePipelineRelease(own->pipeline);
        wgpuBindGroupLayoutRelease(own->layout);
        free(own->key);
        free(own);
    }
    wgpuQueueRelease(host->queue);
    wgpuDeviceRelease(host->device);
    wgpuAdapterRelease(host->adapter);
    wgpuInstanceRelease(host->instance);
    free(host);
}

static Bytes file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file) fail(path, view("cannot be read"));
    Bytes bytes = {NULL, 0};
    for (size_t got = 1; got > 0; bytes.size += got) {
        bytes.data = realloc(bytes.data, bytes.size + (1 << 20));
        if (!bytes.data) fail(path, view("out of memory"));
        got = fread((char *)bytes.data + bytes.size, 1, 1 << 20, file);
    }
    fclose(file);
    ((char *)bytes.data)[bytes.size] = 0; // a text may be read, too: the last read found no byte, so there is room
    return bytes;
}

// The elements as numbers where C has the type, and as bytes otherwise.
static void print(const cJSON *type, const Bytes *output) {
    const char *dtype = text(type, "dtype");
    size_t count = 1;
    const cJSON *size;
    cJSON_ArrayForEach(size, at(type, "shape")) count *= value(size);
    printf("%s:", dtype);
    for (size_t n = 0; n < count; n++) {
        if (!strcmp(dtype, "i64")) printf(" %" PRId64, ((int64_t *)output->data)[n]);
        else if (!strcmp(dtype, "i32")) printf(" %" PRId32, ((int32_t *)output->data)[n]);
        else if (!strcmp(dtype, "u32")) printf(" %" PRIu32, ((uint32_t *)output->data)[n]);
        else if (!strcmp(dtype, "f32")) printf(" %.9g", ((float *)output->data)[n]);
        else if (n == 0) for (size_t b = 0; b < output->size; b++) printf(" %02x", ((uint8_t *)output->data)[b]);
    }
    printf("\n");
}

int main(int count, char **arguments) {
    static float scores[] = {1, 7, 7, 4, 5, 6};
    const char *operation = "{\"ArgMax\": {\"dtype\": \"f32\", \"input\": {\"shape\": [2, 3]}, \"axes\": [-1]}}";
    size_t inputs_given = count > 1 ? (size_t)count - 2 : 1;
    Bytes *inputs = room(inputs_given * sizeof *inputs), given = {NULL, 0};
    if (count > 1) {
        given = file(arguments[1]);
        operation = given.data;
        for (size_t n = 0; n < inputs_given; n++) inputs[n] = file(arguments[2 + n]);
    } else {
        inputs[0] = (Bytes){scores, sizeof scores};
    }

    Host *host = host_open();
    char *limits = host_limits(host);
    printf("wgmax %s, limits %s\n", wgmax_version(), limits);
    cJSON *signature = signature_of(operation);
    const cJSON *types = at(signature, "outputs");
    Bytes *outputs = room((size_t)cJSON_GetArraySize(types) * sizeof *outputs);
    host_run(host, operation, limits, inputs, inputs_given, outputs);
    for (int n = 0; n < cJSON_GetArraySize(types); n++) {
        print(cJSON_GetArrayItem(types, n), &outputs[n]);
        free(outputs[n].data);
    }
    for (size_t n = 0; count > 1 && n < inputs_given; n++) free(inputs[n].data);
    free(outputs), free(inputs), free(given.data), free(limits);
    cJSON_Delete(signature);
    host_close(host);
}
