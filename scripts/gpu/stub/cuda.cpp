// A CUDA runtime without a GPU, for `npm run gpu-plan`: ONNX Runtime's real CUDA provider loads it, places its nodes,
// asks it for memory, copies and launches. Nothing is computed (but for products of a few numbers, for the provider's
// self-check, and shapes); everything is counted. Memory is mapped when it is
// touched, so a card may be larger than the host. What is not here is generated empty from the provider's own symbols.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <map>
#include <mutex>
#include <string>
#include <sys/mman.h>
#include <unordered_map>
#include <vector>

namespace {

enum { SUCCESS = 0, OUT_OF_MEMORY = 2 };
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };
// Copies up to this many bytes are carried out: ids, shapes and statistics. Larger ones are only counted.
const size_t CARRIED = 1 << 16;
// Products up to this many multiplications are computed.
const int64_t COMPUTED = 1 << 12;

struct Copies {
  uint64_t count = 0, bytes = 0;
  std::map<size_t, uint64_t> sizes;
};

struct Counters {
  size_t peak = 0;
  uint64_t mallocs = 0, launches = 0, syncs = 0;
  Copies to_device, to_host, within;
  std::map<std::string, uint64_t> gemms, kernels, regions, violations;
};

// A host copy recorded in a graph, with the bytes that it read: a replay reads the same address again.
struct Source {
  const void* from;
  std::string bytes;
};

struct State {
  std::mutex lock;
  std::unordered_map<void*, size_t> allocations;
  std::unordered_map<const void*, std::string> kernel_names;
  bool capturing = false;
  std::vector<Source> sources;
  size_t used = 0, limit = 0, refused = 0;
  Counters counters;
};

State& state() {
  static State* s = [] {
    State* made = new State;
    const char* bytes = getenv("STUB_GPU_BYTES");
    made->limit = bytes ? strtoull(bytes, nullptr, 10) : 80000000000ull;
    return made;
  }();
  return *s;
}

// Notes what a captured graph may not hold. The lock is held.
void violate(const std::string& what) {
  State& s = state();
  if (s.capturing) s.counters.violations[what]++;
}

size_t pages(size_t bytes) { return bytes == 0 ? 4096 : (bytes + 4095) / 4096 * 4096; }

int allocate(void** out, size_t bytes) {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  *out = nullptr;
  void* memory = MAP_FAILED;
  if (s.used + bytes <= s.limit)
    memory = mmap(nullptr, pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    s.refused = bytes;
    return OUT_OF_MEMORY;
  }
  violate("cudaMalloc");
  s.allocations[memory] = bytes;
  s.used += bytes;
  if (s.used > s.counters.peak) s.counters.peak = s.used;
  s.counters.mallocs++;
  s.counters.regions[std::to_string(bytes)]++;
  return *out = memory, SUCCESS;
}

int release(void* memory) {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  auto found = s.allocations.find(memory);
  if (found == s.allocations.end()) return SUCCESS;
  s.used -= found->second;
  munmap(memory, pages(found->second));
  s.allocations.erase(found);
  return SUCCESS;
}

void copy(void* to, const void* from, size_t bytes, int direction) {
  State& s = state();
  {
    std::lock_guard<std::mutex> guard(s.lock);
    Counters& c = s.counters;
    Copies& copies = direction == HOST_TO_DEVICE ? c.to_device : direction == DEVICE_TO_HOST ? c.to_host : c.within;
    copies.count++;
    copies.bytes += bytes;
    copies.sizes[bytes]++;
    if (s.capturing && direction == HOST_TO_DEVICE)
      s.sources.push_back({from, std::string((const char*)from, bytes <= CARRIED ? bytes : 0)});
    if (direction == DEVICE_TO_HOST) violate("copy to the host");
  }
  if (bytes <= CARRIED) memmove(to, from, bytes);
}

int sync() {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  s.counters.syncs++;
  violate("synchronisation");
  return SUCCESS;
}

int handle(void** out) {
  *out = calloc(1, 64);
  return SUCCESS;
}

// Small sums of integers are shapes plus a zero that is known late (src/onnx/passes/delayed.ts), but was not computed: the shape.
// Arguments of ONNX Runtime's kernel: left, right, out, operation, count.
void add_integers(void** args) {
  const int64_t* left = *(const int64_t**)args[0];
  int64_t* out = *(int64_t**)args[2];
  const int count = *(int*)args[4];
  if (count <= 8) memmove(out, left, count * sizeof *out);
}

int launch(const void* function, void** args) {
  State& s = state();
  std::string name;
  {
    std::lock_guard<std::mutex> guard(s.lock);
    auto found = s.kernel_names.find(function);
    name = found == s.kernel_names.end() ? "?" : found->second;
    s.counters.launches++;
    s.counters.kernels[name]++;
  }
  const bool simple = name.find("_BinaryElementWiseSimple") != std::string::npos;
  if (simple && name.find("OP_AddIlllE") != std::string::npos && args) add_integers(args);
  return SUCCESS;
}

const char* type_name(int type) {
  switch (type) {
    case 0: return "f32";
    case 1: return "f64";
    case 2: return "f16";
    case 14: return "bf16";
    default: return "other";
  }
}

int gemm(const std::string& types, int64_t m, int64_t n, int64_t k, int64_t batch) {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  s.counters.launches++;
  s.counters.gemms[types + " " + std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(k) + " " +
                   std::to_string(batch)]++;
  return SUCCESS;
}

int gemm_of(int a, int b, int c, int64_t m, int64_t n, int64_t k, int64_t batch) {
  return gemm(std::string(type_name(a)) + "*" + type_name(b) + ">" + type_name(c), m, n, k, batch);
}

void number(std::string& out, const char* name, uint64_t value) {
  out += std::string("\"") + name + "\":" + std::to_string(value) + ",";
}

void table(std::string& out, const char* name, const std::map<std::string, uint64_t>& values) {
  out += std::string("\"") + name + "\":{";
  for (const auto& [key, value] : values) out += "\"" + key + "\":" + std::to_string(value) + ",";
  if (out.back() == ',') out.pop_back();
  out += "},";
}

void table(std::string& out, const char* name, const Copies& copies) {
  std::map<std::string, uint64_t> sizes;
  for (const auto& [size, count] : copies.sizes) sizes[std::to_string(size)] = count;
  out += std::string("\"") + name + "\":{";
  number(out, "count", copies.count);
  number(out, "bytes", copies.bytes);
  table(out, "sizes", sizes);
  out.back() = '}';
  out += ",";
}

}  // namespace

extern "C" {

// What was counted since the last call, as JSON; the next report begins here.
const char* stub_report() {
  static std::string out;
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  const Counters& c = s.counters;
  std::map<std::string, uint64_t> kernels;
  for (const auto& [mangled, count] : c.kernels) {
    int status = 0;
    char* plain = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
    kernels[plain ? plain : mangled] += count;
    free(plain);
  }
  out = "{";
  number(out, "used", s.used);
  number(out, "peak", c.peak);
  number(out, "refused", s.refused);
  number(out, "mallocs", c.mallocs);
  number(out, "launches", c.launches);
  number(out, "syncs", c.syncs);
  table(out, "toDevice", c.to_device);
  table(out, "toHost", c.to_host);
  table(out, "within", c.within);
  table(out, "regions", c.regions);
  table(out, "gemms", c.gemms);
  table(out, "kernels", kernels);
  table(out, "violations", c.violations);
  out.back() = '}';
  s.counters = Counters();
  s.counters.peak = s.used;
  s.refused = 0;
  return out.c_str();
}

// The device: compute capability 9.0, as an H100 has it. The layout is that of CUDA 13.
struct Properties {
  char name[256], uuid[16], luid[8];
  unsigned node_mask;
  size_t global_memory, shared_per_block;
  int registers, warp;
  size_t pitch;
  int threads_per_block, block[3], grid[3];
  size_t constants;
  int major, minor;
  size_t texture_alignment, pitch_alignment;
  int multiprocessors;
};
int cudaGetDeviceProperties(void* out, int) {
  Properties p = {};
  strcpy(p.name, "stub");
  p.global_memory = state().limit;
  p.shared_per_block = 49152;
  p.registers = 65536;
  p.warp = 32;
  p.pitch = 2147483647;
  p.threads_per_block = 1024;
  p.block[0] = p.block[1] = 1024, p.block[2] = 64;
  p.grid[0] = 2147483647, p.grid[1] = p.grid[2] = 65535;
  p.constants = 65536;
  p.major = 9;
  p.multiprocessors = 132;
  memset(out, 0, 640);
  memcpy(out, &p, sizeof p);
  return SUCCESS;
}
int cudaDeviceGetAttribute(int* value, int attribute, int) {
  static const std::map<int, int> known = {{1, 1024},  {8, 49152}, {10, 32},     {12, 65536}, {16, 132},
                                           {39, 2048}, {75, 9},    {76, 0},      {81, 233472}, {82, 65536},
                                           {97, 232448}};
  auto found = known.find(attribute);
  *value = found == known.end() ? 1 : found->second;
  return SUCCESS;
}
int cudaGetDeviceCount(int* count) { return *count = 1, SUCCESS; }
int cudaGetDevice(int* device) { return *device = 0, SUCCESS; }
int cudaDriverGetVersion(int* version) { return *version = 13000, SUCCESS; }
int cudaRuntimeGetVersion(int* version) { return *version = 13000, SUCCESS; }
const char* cudaGetErrorString(int error) { return error == OUT_OF_MEMORY ? "out of memory" : "no error"; }
const char* cudaGetErrorName(int error) { return error == OUT_OF_MEMORY ? "cudaErrorMemoryAllocation" : "cudaSuccess"; }

// memory
int cudaMalloc(void** out, size_t bytes) { return allocate(out, bytes); }
int cudaMallocFromPoolAsync(void** out, size_t bytes, void*, void*) { return allocate(out, bytes); }
int cudaFree(void* memory) { return release(memory); }
int cudaFreeAsync(void* memory, void*) { return release(memory); }
int cudaMallocHost(void** out, size_t bytes) { return *out = malloc(bytes ? bytes : 1), SUCCESS; }
int cudaHostAlloc(void** out, size_t bytes, unsigned) { return cudaMallocHost(out, bytes); }
int cudaFreeHost(void* memory) { return free(memory), SUCCESS; }
int cudaMemGetInfo(size_t* available, size_t* total) {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  *total = s.limit;
  *available = s.limit - s.used;
  return SUCCESS;
}
int cudaPointerGetAttributes(int* attributes, const void* pointer) {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  memset(attributes, 0, 32);
  attributes[0] = s.allocations.count(const_cast<void*>(pointer)) ? 2 : 0;
  return SUCCESS;
}
int cudaMemcpy(void* to, const void* from, size_t bytes, int direction) {
  copy(to, from, bytes, direction);
  return sync();
}
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int direction, void*) {
  return copy(to, from, bytes, direction), SUCCESS;
}
int cudaMemset(void* to, int value, size_t bytes) { return bytes <= CARRIED ? (memset(to, value, bytes), SUCCESS) : SUCCESS; }
int cudaMemsetAsync(void* to, int value, size_t bytes, void*) { return cudaMemset(to, value, bytes); }

// streams and events
int cudaDeviceSynchronize() { return sync(); }
int cudaStreamSynchronize(void*) { return sync(); }
int cudaEventSynchronize(void*) { return sync(); }
int cudaStreamCreate(void** out) { return handle(out); }
int cudaStreamCreateWithFlags(void** out, unsigned) { return handle(out); }
int cudaEventCreate(void** out) { return handle(out); }
int cudaEventCreateWithFlags(void** out, unsigned) { return handle(out); }
int cudaEventElapsedTime(float* out, void*, void*) { return *out = 0, SUCCESS; }

// graphs: one at a time
int cudaStreamIsCapturing(void*, int* out) { return *out = state().capturing, SUCCESS; }
int cudaStreamBeginCapture(void*, int) {
  state().sources.clear();
  return state().capturing = true, SUCCESS;
}
int cudaStreamEndCapture(void*, void** graph) { return state().capturing = false, handle(graph); }
int cudaGraphInstantiate(void** out, void*, unsigned long long) { return handle(out); }
int cudaGraphLaunch(void*, void*) {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  s.counters.launches++;
  s.counters.kernels["cudaGraphLaunch"]++;
  for (const Source& source : s.sources)
    if (memcmp(source.from, source.bytes.data(), source.bytes.size()) != 0)
      s.counters.violations["a replay reads other bytes: " + std::to_string(source.bytes.size()) + " from the host"]++;
  return SUCCESS;
}
int cudaLaunchHostFunc(void*, void (*function)(void*), void* data) { return function(data), SUCCESS; }

// kernels
struct Dim {
  unsigned x, y, z;
};
static thread_local struct {
  Dim grid, block;
  size_t shared;
  void* stream;
} configuration;
void** __cudaRegisterFatBinary(void*) {
  static void* binary;
  return &binary;
}
void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, void*, void*, void*, void*, int*) {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  s.kernel_names[host] = name;
}
unsigned __cudaPushCallConfiguration(Dim grid, Dim block, size_t shared, void* stream) {
  configuration = {grid, block, shared, stream};
  return 0;
}
int __cudaPopCallConfiguration(Dim* grid, Dim* block, size_t* shared, void** stream) {
  *grid = configuration.grid, *block = configuration.block;
  *shared = configuration.shared, *stream = configuration.stream;
  return SUCCESS;
}
int __cudaGetKernel(const void** kernel, const void* function) { return *kernel = function, SUCCESS; }
int __cudaLaunchKernel(const void* kernel, Dim, Dim, void** args, size_t, void*) { return launch(kernel, args); }
int cudaLaunchKernel(const void* kernel, Dim, Dim, void** args, size_t, void*) { return launch(kernel, args); }
int cudaLaunchCooperativeKernel(const void* kernel, Dim, Dim, void** args, size_t, void*) { return launch(kernel, args); }
int cudaLaunchKernelExC(const void*, const void* kernel, void** args) { return launch(kernel, args); }
int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, const void*, int, size_t, unsigned) {
  return *out = 2, SUCCESS;
}
int cudaFuncGetAttributes(void* out, const void*) { return memset(out, 0, 64), SUCCESS; }
int cudaGetDriverEntryPointByVersion(const char*, void** out, unsigned, unsigned long long, int* found) {
  static char nothing[64];
  *out = nothing;
  if (found) *found = 0;
  return SUCCESS;
}

// cuBLAS: column-major; types by cudaDataType_t
static thread_local int math_mode = 0;
int cublasSetMathMode(void*, int mode) { return math_mode = mode, SUCCESS; }
int cublasGetMathMode(void*, int* mode) { return *mode = math_mode, SUCCESS; }
const char* cublasGetStatusName(int) { return "stub"; }
const char* cublasGetStatusString(int) { return "stub"; }
static std::string single() { return math_mode & 1 ? "tf32" : "f32"; }
int cublasSgemm_v2(void*, int ta, int tb, int m, int n, int k, const float* alpha, const float* a, int lda,
                   const float* b, int ldb, const float* beta, float* c, int ldc) {
  if ((int64_t)m * n * k <= COMPUTED)
    for (int i = 0; i < m; i++)
      for (int j = 0; j < n; j++) {
        float sum = 0;
        for (int l = 0; l < k; l++) sum += (ta ? a[i * lda + l] : a[l * lda + i]) * (tb ? b[l * ldb + j] : b[j * ldb + l]);
        float* place = c + (size_t)j * ldc + i;
        *place = *alpha * sum + (*beta == 0 ? 0 : *beta * *place);
      }
  return gemm(single(), m, n, k, 1);
}
int cublasSgemmBatched(void*, int, int, int m, int n, int k, const void*, const void*, int, const void*, int, const void*,
                       void*, int, int batch) {
  return gemm(single(), m, n, k, batch);
}
int cublasSgemmStridedBatched(void*, int, int, int m, int n, int k, const void*, const void*, int, long long, const void*,
                              int, long long, const void*, void*, int, long long, int batch) {
  return gemm(single(), m, n, k, batch);
}
int cublasGemmEx(void*, int, int, int m, int n, int k, const void*, const void*, int at, int, const void*, int bt, int,
                 const void*, void*, int ct, int, int, int) {
  return gemm_of(at, bt, ct, m, n, k, 1);
}
int cublasGemmStridedBatchedEx(void*, int, int, int m, int n, int k, const void*, const void*, int at, int, long long,
                               const void*, int bt, int, long long, const void*, void*, int ct, int, long long, int batch,
                               int, int) {
  return gemm_of(at, bt, ct, m, n, k, batch);
}
int cublasGemmBatchedEx(void*, int, int, int m, int n, int k, const void*, const void*, int at, int, const void*, int bt,
                        int, const void*, void*, int ct, int, int batch, int, int) {
  return gemm_of(at, bt, ct, m, n, k, batch);
}
int cublasLtMatmul() { return gemm("lt", 0, 0, 0, 0); }
int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*, int, void* results, int* count) {
  memset(results, 0, 96);
  return *count = 1, SUCCESS;
}

// cuDNN
size_t cudnnGetVersion() { return 91000; }
const char* cudnnGetErrorString(int) { return "stub"; }
void cudnnGetLastErrorString(char* out, size_t size) {
  if (size) out[0] = 0;
}
int cudnnGetReductionWorkspaceSize(void*, void*, void*, void*, size_t* size) { return *size = 1024, SUCCESS; }
int cudnnGetReductionIndicesSize(void*, void*, void*, void*, size_t* size) { return *size = 1024, SUCCESS; }
int cudnnGetStream(void*, void** stream) { return *stream = nullptr, SUCCESS; }
int cudnnReduceTensor() {
  State& s = state();
  std::lock_guard<std::mutex> guard(s.lock);
  s.counters.launches++;
  s.counters.kernels["cudnnReduceTensor"]++;
  return SUCCESS;
}

}  // extern "C"
