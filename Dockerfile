# The mock server, for applications in any language:
#
#   docker build -t emailplatform-mock .
#   docker run --rm -p 127.0.0.1:8026:8026 -e MOCKSERVER_TOKEN=my-token emailplatform-mock
#
# Flags follow the name of the image, and -h lists them. Relative paths of -seed and -state start in /state.
# examples/python/compose.yaml runs the mock server together with an application.
#
# The build can run on any platform for any other platform. -version prints the commit if the checkout contains .git.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
ARG TARGETOS TARGETARCH
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags=-s -o /out/mockserver ./mockserver/cmd/mockserver
RUN .ci/notices . ./mockserver/cmd/mockserver notices/mockserver.txt
RUN mkdir /out/state

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /src/LICENSE /LICENSE
COPY --from=build /src/notices/mockserver.txt /NOTICES.txt
COPY --from=build /out/mockserver /mockserver
COPY --from=build --chown=65532:65532 /out/state /state
WORKDIR /state
USER 65532:65532
ENV MOCKSERVER_ADDR=:8026
EXPOSE 8026
HEALTHCHECK --interval=2s --timeout=3s --start-period=30s CMD ["/mockserver", "health"]
ENTRYPOINT ["/mockserver"]
