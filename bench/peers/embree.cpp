// Peer `embree`: primary rays one at a time (rtcIntersect1), default build quality, robust off, one
// thread.
//
// The input file, written by the harness, little-endian and without padding:
//     u64 vertices, u64 triangles, u64 rays, f64 scale,
//     f32 x y z per vertex, u32 a b c per triangle, f32 ox oy oz dx dy dz per ray.
// The result is the sum of all hit distances times `scale`, each rounded.
#include <embree3/rtcore.h>

#include <fstream>
#include <limits>
#include <memory>
#include <vector>

#include "protocol.hpp"

struct Vertex {
    float x, y, z;
};

struct Triangle {
    unsigned a, b, c;
};

struct Line {
    Vertex origin, direction;
};

template <class T>
static void read_into(std::ifstream &input, T *values, std::size_t count) {
    const auto bytes = static_cast<std::streamsize>(count * sizeof(T));
    if (!input.read(reinterpret_cast<char *>(values), bytes)) {
        throw std::runtime_error("the input file ends too early");
    }
}

// A scene and its rays, read once and kept.
class World {
public:
    explicit World(const std::string &path) : device_(rtcNewDevice("threads=1")) {
        std::ifstream input(path, std::ios::binary);
        if (!input) throw std::runtime_error("cannot open " + path);
        std::uint64_t counts[3];
        read_into(input, counts, 3);
        read_into(input, &scale_, 1);
        const RTCGeometry mesh = rtcNewGeometry(device_, RTC_GEOMETRY_TYPE_TRIANGLE);
        read_into(input,
                  static_cast<Vertex *>(rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                                                sizeof(Vertex), counts[0])),
                  counts[0]);
        read_into(input,
                  static_cast<Triangle *>(rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                                                  sizeof(Triangle), counts[1])),
                  counts[1]);
        rays_.resize(counts[2]);
        read_into(input, rays_.data(), rays_.size());
        rtcCommitGeometry(mesh);
        scene_ = rtcNewScene(device_);
        rtcAttachGeometry(scene_, mesh);
        rtcReleaseGeometry(mesh);
        rtcCommitScene(scene_);
    }

    ~World() {
        rtcReleaseScene(scene_);
        rtcReleaseDevice(device_);
    }

    World(const World &) = delete;
    World &operator=(const World &) = delete;

    std::uint64_t cast_all() const {
        RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        std::uint64_t sum = 0;
        for (const Line &line : rays_) {
            RTCRayHit query;
            query.ray.org_x = line.origin.x;
            query.ray.org_y = line.origin.y;
            query.ray.org_z = line.origin.z;
            query.ray.dir_x = line.direction.x;
            query.ray.dir_y = line.direction.y;
            query.ray.dir_z = line.direction.z;
            query.ray.tnear = 0.0f;
            query.ray.tfar = std::numeric_limits<float>::infinity();
            query.ray.time = 0.0f;
            query.ray.mask = ~0u;
            query.ray.flags = 0;
            query.hit.geomID = RTC_INVALID_GEOMETRY_ID;
            query.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
            rtcIntersect1(scene_, &context, &query);
            if (query.hit.geomID != RTC_INVALID_GEOMETRY_ID) {
                sum += static_cast<std::uint64_t>(static_cast<double>(query.ray.tfar) * scale_);
            }
        }
        return sum;
    }

private:
    RTCDevice device_;
    RTCScene scene_ = nullptr;
    double scale_ = 0;
    std::vector<Line> rays_;
};

int main() {
    std::string loaded;
    std::unique_ptr<World> world;
    return peer::serve([&](const peer::Request &request) {
        if (request.file != loaded || !world) {
            world = std::make_unique<World>(request.file);
            loaded = request.file;
        }
        return peer::timed([&] {
            std::uint64_t result = 0;
            for (std::uint64_t i = 0; i < request.repetitions; ++i) result = world->cast_all();
            return result;
        });
    });
}
