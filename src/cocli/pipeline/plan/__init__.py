"""Which tiles a campaign wants, which of them were read, and what is missing. Nothing here fetches anything.

tiles_of_circle(lat, lon, miles)  tiles_of_area(geometry)    the grid, on whole numbers                         grid
read_areas(data, file=…)  united(areas)                      polygons of GeoJSON and KML files    areas, kml, rings
Gazetteer().resolve("Springfield, IL")                       names of places, without a network           gazetteer
read_locations(data, file=…, gazetteer=…)                    a table of places                            locations
Territory.of_locations(…)  of_areas(…)                       tile → the location it was planned for       territory
target_rows(spec, territory, phrases, …)                     tiles × phrases as rows of the index           targets
Mission(lacking, splits).tasks()                             targets − witnesses → tasks                    mission
estimate(tasks, asked, …)                                    what that will take                           estimate
chapman(first, second, both)                                 how many there are, by two passes            recapture
judged(passes, splits)  Coverage                             what was read, as numbers                     coverage
render_svg  render_html  render_kml  render_geojson          … and as maps             coverage_map, coverage_files
"""
